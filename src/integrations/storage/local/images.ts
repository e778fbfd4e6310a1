import { signUploadToken, type ImageServer, type Uploader } from '../../../../packages/image-server/src';
import type { ImageStorage, UploadToken } from '../image-storage';

/** Images of a user, for the operations of the account. */
export interface OwnImages {
  /** Marks as due the portraits that are no longer shown, now that this one is. */
  hurryReplaced(userId: string, portraitUri: string): Promise<void>;
  /** Marks all images of a user as due. */
  hurryAll(userId: string): Promise<void>;
}

interface Options {
  /** Secrets of upload tokens; the first one signs. */
  secrets: string[];
  maxBytes: number;
  /** Address of the image server, if it is a separate process. */
  address?: string | undefined;
}

/** Images on our own disk. A separate image server removes due images by itself. */
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
