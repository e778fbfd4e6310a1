import { stringify } from 'yaml';
import { nodeImage } from './folder';

/** What `docker compose config` says, as far as it is read here. */
export interface ComposeConfig {
  services: Record<string, { command?: string[] | null; networks?: Record<string, unknown> }>;
  networks: Record<string, { internal?: boolean }>;
}

/**
 * The vendors beside the service, and ports that the engine chooses, on loopback alone: neither another deployment nor
 * anybody outside meets this one.
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
  // What is given here takes the place of the compose file's ports, which would come on top of these.
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
