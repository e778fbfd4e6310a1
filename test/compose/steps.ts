import type { Step } from './step';
import { backup } from './steps/backup';
import { ipv6 } from './steps/ipv6';
import { life } from './steps/life';
import { replicas } from './steps/replicas';
import { rights } from './steps/rights';
import { rolling } from './steps/rolling';
import { slowDatabase } from './steps/slow-database';
import { upgrade } from './steps/upgrade';
import { variables } from './steps/variables';

export const STEPS: Step[] = [life, replicas, rolling, upgrade, ipv6, rights, backup, variables, slowDatabase];
