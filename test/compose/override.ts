import { stringify } from 'yaml';
import { nodeImage } from './folder';

/** The part of `docker compose config` that is read here. */
export interface ComposeConfig {
  services: Record<string, { command?: string[] | null; networks?: Record<string, unknown> }>;
  networks: Record<string, { internal?: boolean }>;
}

/**
 * Returns an override with the vendors' stand-in, and with ports that the engine chooses, only on loopback: it does not
 * collide with another deployment and cannot be reached from outside.
 */
export function overrideFor(config: ComposeConfig, scripts: string): string {
  const reached = Object.keys(config.services.service?.networks ?? {});
  const vendors = {
    image: nodeImage(),
    init: true,
    command: ['node', '/scripts/compose/in-container/vendors.js'],
    volumes: [`${scripts}:/scripts:ro`],
    networks: reached.filter((name) => !config.networks[name]?.internal),
    ports: ['127.0.0.1::8081'],
  };
  // `!override` replaces the compose file's ports. Otherwise these would be added to them.
  return `services:
  service:
    environment:
      NODE_EXTRA_CA_CERTS: /vendors.crt
    volumes:
      - ${scripts}/vendors.crt:/vendors.crt:ro
  proxy:
    ports: !override ['127.0.0.1::443']
  vendors: ${stringify(vendors, { collectionStyle: 'flow', lineWidth: 0 }).trim()}
`;
}
