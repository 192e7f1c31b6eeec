/** The new payload of a job that is retried with one. */
export interface NewPayload {
  /** JSON text. */
  readonly payload: string
  /** The index entries of this payload. They replace those of the job; its other tags stay. */
  readonly entries: readonly string[]
  /**
   * When the job ended, read together with the payload from which this one was made. A job that ended at
   * another time was retried since, so it is refused.
   */
  readonly endedAt: number
}
