import { PathTree } from '../../src/http/path-tree';

const tree = new PathTree<string>();
for (const path of ['/user/find/:region/:phone', '/user/:id', '/user/sync', '/group/:id/members', '/group/all/of/it'])
  tree.add(path, path);

describe('PathTree', () => {
  it.each([
    ['/user/sync', '/user/sync', {}],
    ['/USER/Sync/', '/user/sync', {}],
    ['/user/Abc', '/user/:id', { id: 'Abc' }],
    ['/user/%zz', '/user/:id', { id: '%zz' }],
    ['/user/find', '/user/:id', { id: 'find' }],
    ['/user/find/44/7400', '/user/find/:region/:phone', { region: '44', phone: '7400' }],
    ['/group/all/members', '/group/:id/members', { id: 'all' }],
  ])('finds %s as %s', (path, entry, params) => {
    expect(tree.find(path)).toEqual({ entry, params });
  });

  it.each(['/', '', '/user', '/user//', '/user/a/b', '/group/all/of', '/elsewhere/x'])('does not find %j', (path) => {
    expect(tree.find(path)).toBeUndefined();
  });
});
