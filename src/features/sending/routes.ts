import { randomInt } from 'node:crypto';
import { nameOf, takesNotices, type Channel, type Way } from '../../integrations/senders/kinds';
import { countryOf, type Phone } from '../phones/phone-number';

export interface PricedWay extends Way {
  /** Messages of the day's budget that a message by this way counts as. */
  cost: number;
}

export interface WeightedWay extends PricedWay {
  weight: number;
}

/** Steps, in their order. The ways of one step share its messages by their weights. */
export type Route = WeightedWay[][];

export interface RouteRules {
  /** Whether the share of codes that is verified also counts as a weight. */
  adaptive: boolean;
  /** By ISO code of the country, by calling code, and `*` for all others. */
  routes: Record<string, Route>;
}

/** Codes of the last day that a way took to a country, and those that were verified. */
export interface WayTraffic {
  way: string;
  sent: number;
  verified: number;
  /** Codes of which the provider has told what became of them, and those that it has delivered. */
  told: number;
  delivered: number;
}

export interface Wish {
  /** The channel that the user asks for. */
  channel?: Channel | undefined;
  /** The way of the phone's last code, if that code was not verified. */
  failed?: string | undefined;
}

/** Minimum codes that prove a share. With fewer, a way is taken for as good as the best. */
const LEAST = 20;
/** Least part of its weight that a way keeps, so that it is still tried and can prove better. */
const LEAST_SHARE = 0.05;
/** Random numbers for weights are whole. */
const PRECISION = 1_000_000;

/**
 * Decides by which ways a message goes, in which order:
 * 1. The route of the country holds, else that of its calling code, else `*`.
 * 2. A user who asks for a channel gets only ways of that channel; a notice gets only ways that take any text.
 * 3. The steps of a route follow each other.
 * 4. Within a step, one way is drawn by weight, then the next. If the route is adaptive, a weight is multiplied by the
 *    share of the way's codes to this country that were verified in the last day.
 * 5. The way of a code that was not verified comes last in its step.
 */
export class Routes {
  constructor(
    private readonly rules: RouteRules,
    private readonly trafficOf: (country: string) => Promise<WayTraffic[]>,
    private readonly draw = randomInt,
  ) {}

  /** Returns the key of a phone's route, and the route. */
  routeOf(phone: Phone): [key: string, route: Route] {
    const { routes } = this.rules;
    const key = [countryOf(phone), phone.region, '*'].find((one) => routes[one] !== undefined) ?? '*';
    return [key, routes[key] ?? []];
  }

  /** Returns the ways of a code, the first to be tried first. */
  async forCode(phone: Phone, { channel, failed }: Wish): Promise<PricedWay[]> {
    const steps = this.stepsOf(phone, (way) => channel === undefined || way.channel === channel);
    const shares = this.rules.adaptive && steps.some(isShared) ? await this.sharesIn(phone) : undefined;
    return steps.flatMap((step) => {
      const drawn = this.drawn(step.map((way) => ({ ...way, weight: way.weight * (shares?.(way) ?? 1) })));
      return [...drawn.filter((way) => nameOf(way) !== failed), ...drawn.filter((way) => nameOf(way) === failed)];
    });
  }

  /** Returns the ways of a notice. They are SMS: the owner did not ask for it. */
  forNotice(phone: Phone): PricedWay[] {
    return this.stepsOf(phone, takesNotices).flatMap((step) => this.drawn(step));
  }

  /** Whether the way of the last code changes the order. */
  hasChoice(phone: Phone): boolean {
    const [, route] = this.routeOf(phone);
    return route.some(isShared);
  }

  /** Returns the traffic of the ways to the country of a phone. */
  traffic(phone: Phone): Promise<WayTraffic[]> {
    return this.trafficOf(countryOf(phone));
  }

  private stepsOf(phone: Phone, isFit: (way: Way) => boolean): Route {
    const [, route] = this.routeOf(phone);
    return route.map((step) => step.filter(isFit)).filter((step) => step.length > 0);
  }

  private async sharesIn(phone: Phone): Promise<(way: Way) => number> {
    const traffic = await this.traffic(phone);
    return (way) => {
      const { sent = 0, verified = 0 } = traffic.find((one) => one.way === nameOf(way)) ?? {};
      return sent < LEAST ? 1 : Math.max(LEAST_SHARE, Math.min(1, verified / sent));
    };
  }

  private drawn(step: WeightedWay[]): PricedWay[] {
    const left = [...step];
    const order: PricedWay[] = [];
    while (left.length > 0) {
      const total = left.reduce((sum, { weight }) => sum + weight, 0);
      let at = (this.draw(PRECISION) / PRECISION) * total;
      const index = left.findIndex(({ weight }) => (at -= weight) < 0);
      const [{ sender, channel, cost }] = left.splice(Math.max(0, index), 1) as [WeightedWay];
      order.push({ sender, channel, cost });
    }
    return order;
  }
}

/** Returns what a message counts as until a further way is tried. A code that is not sent has no ways. */
export function firstCostOf([first]: PricedWay[]): number {
  return first?.cost ?? 1;
}

function isShared(step: WeightedWay[]): boolean {
  return step.length > 1;
}
