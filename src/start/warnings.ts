import type { Config } from '../config/config';

/** The database keeps events of the audit trail for so long, unless its owner permits less. */
const LEAST_AUDIT_DAYS = 30;
const ALL_ADDRESSES = ['0.0.0.0', '::'];

/** Returns a line for each setting that is valid, but probably not meant so. */
export function warningsOf({ admin, auditDays }: Config): string[] {
  return [
    ...(admin && ALL_ADDRESSES.includes(admin.host)
      ? [
          `ADMIN_HOST: ${admin.host} takes tokens over plain HTTP from every network of this machine: ` +
            'set it to an address of one of them, or let only operators reach the port (docs/admin-api.md)',
        ]
      : []),
    ...(auditDays < LEAST_AUDIT_DAYS
      ? [
          `AUDIT_DAYS: ${auditDays} has an effect only if the owner of the tables permits fewer than ${LEAST_AUDIT_DAYS} ` +
            `days: UPDATE security_events_kept SET days = ${auditDays} (docs/database.md)`,
        ]
      : []),
  ];
}
