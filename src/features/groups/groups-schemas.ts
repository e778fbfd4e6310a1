import type { Group } from './groups-repository';

export function listGroup({ id, name, portraitUri, creatorId, memberCount }: Group) {
  return { id, name, portraitUri, creatorId, memberCount };
}
