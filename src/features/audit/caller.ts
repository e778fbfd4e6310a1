/** Where a call comes from, as far as the connection tells. */
export interface Caller {
  /** What limits by address count: the IP, of IPv6 the /64. */
  address: string;
  ip: string;
  userAgent: string;
  requestId: string;
}
