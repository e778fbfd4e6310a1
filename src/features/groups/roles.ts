export const CREATOR = 0;
export const MEMBER = 1;
export const MANAGER = 2;
