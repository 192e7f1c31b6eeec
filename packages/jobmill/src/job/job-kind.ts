/** The part of a definition that whoever enqueues needs: the name of the kind, and the types that go with it. */

// A symbol rather than instanceof: two copies of the package in one process still know each other's.
export const JOB_KIND: unique symbol = Symbol.for('jobmill.definition') as never

/** `Input` is what `enqueue` takes, `Result` what `result()` gives. */
export interface JobKind<in Input = never, out Result = unknown> {
  readonly kind: string
  readonly [JOB_KIND]: { readonly takes: (input: Input) => void; readonly gives: () => Result }
}
