import { countryOf, masked } from '../features/phones/phone-number';
import { nameOf } from '../integrations/senders/kinds';
import type { Command, Row } from './command';
import { shareOf } from './spend-commands';
import { phoneIn } from './who';

export const ROUTES: Command[] = [
  {
    name: 'routes explain',
    takes: '<phone>',
    what: 'tells by which ways a code goes to a number, in their order, and how well each has worked in its country',
    scope: 'read',
    run: async ({ reads: { routes }, config }, { words: [given = ''] }) => {
      const phone = phoneIn(given);
      const [key, route] = routes.routeOf(phone);
      const traffic = await routes.traffic(phone);
      return {
        route: [
          `${masked(phone.number)} is in ${countryOf(phone)}, which has the route of ${key}`,
          ...(config.sms.routes.adaptive ? ['weights are multiplied by the share that was verified'] : []),
        ],
        ways: route.flatMap((step, index) =>
          step.map((way): Row => {
            const {
              sent = 0,
              verified = 0,
              told = 0,
              delivered = 0,
            } = traffic.find((one) => one.way === nameOf(way)) ?? {};
            return {
              step: index + 1,
              way: nameOf(way),
              weight: way.weight,
              sent,
              verified,
              share: shareOf(verified, sent),
              delivered: told === 0 ? '' : `${delivered} of ${told}`,
            };
          }),
        ),
      };
    },
  },
];
