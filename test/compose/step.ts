import type { Answer } from '../faults/calls';
import type { Stage } from './stage';

export interface Step {
  name: string;
  /** Plays the step and returns what was seen, or throws. */
  play: (stage: Stage) => Promise<string>;
}

export function ensure(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}

/** Returns the result of an answer, which must have this return code. */
export function resultOf(answer: Answer, what: string, code = 200): unknown {
  const told = `${answer.kind} ${answer.body.toString().slice(0, 300)}`;
  ensure(answer.code === code, `${what} was answered with ${told}`);
  return answer.result;
}
