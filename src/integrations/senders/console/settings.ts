import { vendor } from '../../../base/settings';

export const CONSOLE = vendor({}, () => ({}));
