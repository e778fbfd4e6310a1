import { Worker } from 'node:worker_threads';

/** A password that the service has given to one of its threads. */
interface Task {
  operation: 'compare' | 'hash';
  password: string;
}

export interface WatchedHashing {
  readonly compared: string[];
  readonly hashed: string[];
}

interface Options {
  /** Holds a password back until this is resolved. It occupies its thread. */
  before?: (task: Task) => Promise<void> | undefined;
  /** Ends the thread instead of giving it the password. */
  kills?: Task['operation'];
}

/** Records the passwords that the service's threads are given to compare or to hash, until the test restores its mocks. */
export function watchHashing({ before = () => undefined, kills }: Options = {}): WatchedHashing {
  const tasks: Task[] = [];
  const posting = jest.spyOn(Worker.prototype, 'postMessage');
  const post = posting.getMockImplementation() as Worker['postMessage'];
  posting.mockImplementation(function (this: Worker, message: unknown, ...rest) {
    const send = () => post.call(this, message, ...rest);
    if (!isTask(message)) return send();
    tasks.push(message);
    if (kills === message.operation) return void this.terminate();
    const held = before(message);
    if (held) void held.then(send);
    else send();
  });
  const passwords = (operation: Task['operation']) =>
    tasks.filter((task) => task.operation === operation).map(({ password }) => password);
  return {
    get compared() {
      return passwords('compare');
    },
    get hashed() {
      return passwords('hash');
    },
  };
}

function isTask(message: unknown): message is Task {
  return typeof message === 'object' && message !== null && 'password' in message;
}
