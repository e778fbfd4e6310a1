export const CREATOR = 0;
export const MEMBER = 1;
export const MANAGER = 2;

export type Role = typeof CREATOR | typeof MEMBER | typeof MANAGER;
