import { auth, rs } from 'qiniu';
import { uploadPolicy, type Uploader } from '../../../packages/image-server/src';
import type { ImageStorage, UploadToken } from './image-storage';

export interface QiniuOptions {
  accessKey: string;
  secretKey: string;
  bucket: string;
  /** Where the bucket's images are served, with http or https in front or without, as clients are to get it. */
  domain: string;
  maxBytes: number;
}

/** Clients upload to Qiniu themselves: this service only signs what they may do. */
export class QiniuImageStorage implements ImageStorage {
  private readonly credentials: auth.digest.Mac;

  constructor(private readonly options: QiniuOptions) {
    this.credentials = new auth.digest.Mac(options.accessKey, options.secretKey);
  }

  /** This service stores no file. */
  async sweep(): Promise<void> {}

  async removeUnused(): Promise<void> {}

  async portraitSet(): Promise<void> {}

  async accountClosed(): Promise<void> {}

  async close(): Promise<void> {}

  uploadToken({ userId }: Pick<Uploader, 'userId'>): UploadToken {
    const { bucket, domain, maxBytes } = this.options;
    const { deadline, ...policy } = uploadPolicy(bucket, userId, maxBytes);
    // The SDK wants the time that is left and makes the deadline of it.
    const expires = deadline - Math.floor(Date.now() / 1000);
    return { target: 'qiniu', domain, token: new rs.PutPolicy({ ...policy, expires }).uploadToken(this.credentials) };
  }
}
