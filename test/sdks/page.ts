import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOfKind } from '../support/code-blocks';
import { ROOT } from '../support/service-process';

/** A page of docs: its code, and the command that generates its client. */
export class Page {
  private readonly text: string;

  constructor(name: string) {
    this.text = readFileSync(join(ROOT, 'docs', name), 'utf8');
  }

  code(language: string): string {
    return codeOfKind(this.text, language).join('\n');
  }

  /** Returns the arguments after the jar, with another document and another folder for the client. */
  generatorArguments(document: string, folder: string): string[] {
    const command = this.code('bash').replaceAll('\\\n', ' ');
    const [, words = ''] = /^java -jar openapi-generator-cli-\S+ (.*)$/m.exec(command) ?? [];
    const given: Record<string, string> = { '-i': document, '-o': folder };
    const args = words.split(/\s+/);
    return args.map((word, index) => given[args[index - 1] ?? ''] ?? word);
  }
}
