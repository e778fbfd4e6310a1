import { buildImagesContainer } from './composition/images-container';
import { run } from './run';

/** A process that only stores images, of accounts that other instances serve. */
run(async ({ config, outside }) => ({
  ...(await buildImagesContainer(config, outside)),
  asking: '/readyz',
  pages: [],
}));
