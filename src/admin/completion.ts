import { flagsOf, type Command } from './command';

/** Options of every command, before its name. */
const GENERAL = ['--json', '--as', '--help'];

/** Returns a script for bash that completes the words and options of commands. Nothing is asked while you type. */
export function completionOf(commands: Command[]): string {
  const names = commands.map(({ name }) => name.split(' '));
  const groups = [...new Set(names.flatMap(([first = '', second]) => (second === undefined ? [] : [first])))];
  const secondOf = (group: string) => names.flatMap(([first, second]) => (first === group && second ? [second] : []));
  const first = [...new Set(names.map(([word = '']) => word)), 'completion', ...GENERAL];
  return [
    '_admin() {',
    '  local word typed= place',
    '  for ((place = 1; place < COMP_CWORD; place++)); do',
    '    word=${COMP_WORDS[place]}',
    '    case $word in',
    '      --as) ((place++)) ;;',
    '      -*) ;;',
    '      *) typed="$typed${typed:+ }$word" ;;',
    '    esac',
    '  done',
    '  COMPREPLY=()',
    '  case $typed in',
    `    '') ${reply(first)} ;;`,
    ...groups.map((group) => `    '${group}') ${reply(secondOf(group))} ;;`),
    // A whole command also has words of its own, such as a phone.
    ...commands.map(
      (command) =>
        `    '${command.name}' | '${command.name} '*) ${reply([...Object.keys(flagsOf(command)), '--help'])} ;;`,
    ),
    '  esac',
    '}',
    'complete -F _admin admin',
  ].join('\n');
}

function reply(words: string[]): string {
  return `COMPREPLY=($(compgen -W '${words.join(' ')}' -- "\${COMP_WORDS[COMP_CWORD]}"))`;
}
