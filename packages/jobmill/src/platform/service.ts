/** A long-lived component with start and stop. */
export interface Service {
  /** Resolves once it is running. Idempotent. */
  start(): Promise<void>
  /** Resolves once no part of it is running. Idempotent, and safe before start. */
  stop(): Promise<void>
}
