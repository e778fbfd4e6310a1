/** The sender of a request, as its connection and headers show it. */
export interface Caller {
  /** For limits by address: the IPv4 address, or the /64 of the IPv6 address; limits count wider networks too. */
  address: string;
  ip: string;
  userAgent: string;
  requestId: string;
}
