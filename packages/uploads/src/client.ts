/**
 * `jobmill-uploads/client`: pulls the files of a mailbox into a folder, and uploads files. Needs only Node.
 */
export { pull, pullOnce, type Puller, type PullSummary, type Settled } from './client/pull.ts'
export type { PulledFile, PullOptions } from './client/options.ts'
export { PULL_FAULT_POINTS, type PullFaultPoint } from './client/fault-points.ts'
export { ClientError, type ClientErrorCode } from './client/http/client-error.ts'
export type { TokenSource } from './client/http/token.ts'
export type { Trouble, TroubleCode } from './client/trouble.ts'
export {
  upload,
  type FileToSend,
  type SentFile,
  type UploadOptions,
  type UploadProgress,
} from './client/upload.ts'
