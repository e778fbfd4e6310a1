import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { picture } from '../support/images';
import { OUTPUT } from '../support/paths';
import { newDataDir, ServiceProcess } from '../support/service-process';

export interface Stage {
  url: string;
  /** The file with its SMS. */
  messages: string;
  /** A picture to upload. */
  image: string;
}

/** Starts a service for a client that plays a life. */
export async function withService(folder: string, play: (stage: Stage) => Promise<void>): Promise<void> {
  mkdirSync(OUTPUT, { recursive: true });
  const image = join(folder, 'portrait.png');
  writeFileSync(image, await picture('png'));
  const data = newDataDir();
  const service = ServiceProcess.start({ DATA_DIR: data.path, SMS_PROVIDER: 'file' });
  try {
    await service.untilReady();
    await play({ url: service.url, messages: join(data.path, 'sms.ndjson'), image });
  } finally {
    await service.stop();
    data.remove();
  }
}

/** Throws if a client's output does not say that it has reached the end. */
export function expectPlayedToEnd(output: string): void {
  if (!output.includes('played to its end')) throw new Error(output);
}
