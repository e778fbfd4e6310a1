/** Factor of the service's time limits in tests that are not about them: a lock is waited for half a minute, for instance. */
export const PATIENCE = 30;

/** Time limit that nothing reaches, also on a busy machine. */
export const PATIENT_MS = 60_000;
