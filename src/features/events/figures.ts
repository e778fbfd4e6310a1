/** Figures of those who are told of events: each brings its own values. */
export const TOLD = {
  name: 'told_total',
  help: 'Events that webhooks were told, and turns of users and groups that the messaging provider was told.',
  labels: ['to', 'outcome'],
};

export const UNTOLD = {
  name: 'untold_seconds',
  help: 'Age of the oldest change that is still to be told, or event that is still to be read for it.',
  labels: ['to'],
};
