import { z } from 'zod';
import { IMAGE_PATH, UPLOAD_PATHS } from '../../../packages/image-server/src';
import type { Endpoint } from '../../http/endpoint';

const key = z
  .string()
  .meta({ description: 'The name of the image: `<user id>/<name>`.', examples: ['k7Qw2mZr9TfB/ann.png'] });

export const upload: Endpoint = {
  method: 'post',
  path: UPLOAD_PATHS[0],
  name: 'uploadImage',
  summary: 'Uploads an image, with the protocol of Qiniu.',
  form: z
    .object({
      token: z.string().meta({ description: 'From get_image_token.', examples: ['local:c2lnbmVk:cG9saWN5'] }),
      key: key.optional().meta({ description: 'Default: the hash of the image.' }),
      crc32: z
        .string()
        .regex(/^[0-9]{1,10}$/)
        .optional()
        .meta({ description: 'CRC-32 of the file, as a decimal number.', examples: ['222957957'] }),
      file: z.string().meta({ format: 'binary', description: 'PNG, JPEG, GIF or WebP.', examples: ['the bytes'] }),
    })
    .meta({ id: 'ImageForm', description: 'The form of an upload.' }),
  answer: {
    type: 'application/json',
    result: z
      .object({
        hash: z.string().meta({
          description: "Qiniu's hash of the file as it was sent.",
          examples: ['FhYqGk1sL6nJ3Qm2dX0z5vB7cT9e'],
        }),
        key,
      })
      .meta({ id: 'StoredImage', description: 'The image is at `<domain>/<key>`.' }),
  },
  redirect: 'With the storage `qiniu`, or `IMAGES` at an address: send the form to this address.',
  // prettier-ignore
  refusals: [
    'malformed_upload', 'upload_cut_off', 'not_an_image', 'image_too_complex', 'image_too_slow', 'upload_token_refused',
    'upload_token_expired', 'key_not_allowed', 'checksum_wrong', 'upload_too_slow', 'image_too_large', 'too_many_uploads',
    'image_space_full', 'overloaded', 'uploads_busy', 'images_unavailable', 'disk_full', 'image_gone', 'key_taken',
  ],
  like: 'upload',
};

export const image: Endpoint = {
  method: 'get',
  path: IMAGE_PATH,
  name: 'image',
  summary: 'An image that was uploaded here.',
  params: z.object({
    userId: z.string().meta({ examples: ['k7Qw2mZr9TfB'] }),
    name: z.string().meta({ examples: ['ann.png'] }),
  }),
  answer: { type: 'image/*' },
  redirect: 'With `IMAGES` at an address: the address of the image.',
  refusals: ['no_such_image', 'overloaded'],
};
