import type { Logger } from 'pino';
import type { MessagingProvider } from './messaging-provider';

/** After the kept token has been dropped. Nothing fails when the provider does not answer: the log tells of it. */
export async function endTokens(
  messaging: MessagingProvider,
  userId: string,
  logger: Pick<Logger, 'warn'>,
): Promise<void> {
  try {
    await messaging.endTokens(userId);
  } catch (error) {
    const message = 'the messaging provider did not end the tokens of a user: they go on until it does';
    logger.warn({ err: error, userId }, message);
  }
}
