import { signUploadToken, type ImageServer, type Uploader } from '../../../packages/image-server/src';
import type { ImageStorage, UploadToken } from './image-storage';

/** What the accounts do with the images of one of them. */
export interface OwnImages {
  /** Makes portraits due that are shown no more, now that this one is. */
  hurryReplaced(userId: string, portraitUri: string): Promise<void>;
  /** Makes all images of a user due. */
  hurryAll(userId: string): Promise<void>;
}

interface Options {
  /** The first signs the upload tokens. */
  secrets: string[];
  maxBytes: number;
  /** Of the image server, where it is a process of its own. */
  address?: string | undefined;
}

/** Images on a disk of ours. Where another process keeps them, it removes what is due by itself. */
export class LocalImages implements ImageStorage {
  constructor(
    private readonly options: Options,
    private readonly images: OwnImages,
    private readonly server?: ImageServer,
  ) {}

  uploadToken(uploader: Uploader, publicUrl: string): UploadToken {
    const { secrets, maxBytes, address = publicUrl } = this.options;
    const token = signUploadToken(secrets[0] ?? '', uploader, maxBytes);
    return { target: 'local', domain: `${address.replace(/\/+$/, '')}/files`, token };
  }

  async portraitSet(userId: string, portraitUri: string): Promise<void> {
    await this.images.hurryReplaced(userId, portraitUri);
    await this.server?.removeUnused(userId);
  }

  async accountClosed(userId: string): Promise<void> {
    await this.images.hurryAll(userId);
    await this.server?.removeUnused(userId);
  }

  async removeUnused(): Promise<void> {
    await this.server?.removeUnused();
  }

  async sweep(): Promise<void> {
    await this.server?.sweep();
  }

  async close(): Promise<void> {
    await this.server?.close();
  }
}
