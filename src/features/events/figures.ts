/** Figures of deliveries of events: each receiver brings its own values. */
export const DELIVERIES = {
  name: 'deliveries_total',
  help: 'Deliveries: of an event to a webhook, and of what changed in a user or group to the messaging provider.',
  labels: ['to', 'outcome'],
};

export const DELIVERY_LAG = {
  name: 'delivery_lag_seconds',
  help: 'Age of the oldest change that is not delivered yet, or of the oldest event that is not read for it yet.',
  labels: ['to'],
};
