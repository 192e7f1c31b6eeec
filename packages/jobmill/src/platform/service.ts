/** A long-lived part. Everything that runs between start and stop has this shape. */
export interface Service {
  /** Resolves once it works. Calling it twice is calling it once. */
  start(): Promise<void>
  /** Resolves once nothing of it is left running. Safe before start, and twice. */
  stop(): Promise<void>
}
