import { auth, rs } from 'qiniu';
import { uploadPolicy, type Uploader } from '../../../../packages/image-server/src';
import type { ImageStorage, UploadToken } from '../image-storage';

export interface QiniuOptions {
  accessKey: string;
  secretKey: string;
  bucket: string;
  /** Domain of the bucket's images, with or without http or https in front, as clients should get it. */
  domain: string;
  maxBytes: number;
}

/** Storage at Qiniu, to which clients upload directly: this service only signs what they may do. */
export class QiniuImageStorage implements ImageStorage {
  private readonly credentials: auth.digest.Mac;

  constructor(private readonly options: QiniuOptions) {
    this.credentials = new auth.digest.Mac(options.accessKey, options.secretKey);
  }

  /** Does nothing, since this service does not store files. */
  async sweep(): Promise<void> {}

  async removeUnused(): Promise<void> {}

  async portraitSet(): Promise<void> {}

  async accountClosed(): Promise<void> {}

  async close(): Promise<void> {}

  uploadToken({ userId }: Pick<Uploader, 'userId'>): UploadToken {
    const { bucket, domain, maxBytes } = this.options;
    const { deadline, ...policy } = uploadPolicy(bucket, userId, maxBytes);
    // The SDK takes the remaining time, and computes the deadline from it.
    const expires = deadline - Math.floor(Date.now() / 1000);
    return { target: 'qiniu', domain, token: new rs.PutPolicy({ ...policy, expires }).uploadToken(this.credentials) };
  }
}
