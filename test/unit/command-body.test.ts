import { ALWAYS, type Command } from '../../src/admin/command';
import { bodyOf, bodyReader, pathOf } from '../../src/admin/command-body';
import { COMMANDS } from '../../src/admin/commands';

const nothing = () => Promise.resolve({});
const move: Command = {
  name: 'things move',
  takes: '<thing> [from] [to-place]',
  what: 'moves a thing',
  scope: 'admin',
  options: { '--all-of-it': 'with its parts', '--since <time>': 'only if it is newer' },
  changes: ALWAYS,
  isFinal: true,
  run: nothing,
};

const refusalOf = (body: object) => {
  try {
    return bodyReader(move)(body);
  } catch (error) {
    return error;
  }
};

describe('the body of a command', () => {
  it('has its words and options by their names in camel case, as the command line reads them', () => {
    expect(pathOf(move)).toBe('/things/move');
    const body = { thing: 'a', from: 'b', toPlace: 'c', allOfIt: true, since: 'monday', yes: true };
    expect(bodyReader(move)(body)).toEqual({
      words: ['a', 'b', 'c'],
      options: { allOfIt: true, since: 'monday', yes: true },
    });
    expect(bodyReader({ ...move, takes: '', isFinal: false })({})).toEqual({ words: [], options: {} });
  });

  it('has no dryRun where nothing changes, and no yes where the change can be undone', () => {
    const { options: _options, changes: _changes, isFinal: _isFinal, ...plain } = move;
    expect(Object.keys(bodyOf(plain).shape)).toEqual(['thing', 'from', 'toPlace']);
  });

  // guard command-body-2: the admin API takes no word for another
  // src/admin/command-body.ts
  // - .superRefine(withoutGaps(names))
  it('may not leave out a word before another one, which would take its place', () => {
    expect(refusalOf({ thing: 'a', toPlace: 'c', yes: true })).toMatchObject({
      reason: 'invalid_input',
      message: 'from: is missing',
    });
  });

  // guard command-body-1: a command of the admin API that cannot be undone needs yes
  // src/admin/command-body.ts
  // - if (command.isFinal && options.yes !== true
  // + if (false && options.yes !== true
  it('says yes to what cannot be undone, unless it is a dry run', () => {
    for (const yes of [undefined, false]) expect(refusalOf({ thing: 'a', yes })).toMatchObject({ reason: 'not_sure' });
    expect(refusalOf({ thing: 'a', yes: true })).toMatchObject({ words: ['a'] });
    expect(refusalOf({ thing: 'a', dryRun: true })).toMatchObject({ words: ['a'] });
  });

  it.each(COMMANDS)('has every word that the command $name takes', (command) => {
    const { options: _options, changes: _changes, isFinal: _isFinal, ...plain } = command;
    const words = plain.takes.split(' ').filter((word) => word !== '');
    expect(Object.keys(bodyOf(plain).shape)).toHaveLength(words.length);
  });
});
