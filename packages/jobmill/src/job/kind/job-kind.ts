/** The part of a definition that enqueuing needs: the name of the kind, and its types. */

// A symbol instead of instanceof, so that two copies of the package in one process recognize each other's
// kinds.
export const JOB_KIND: unique symbol = Symbol.for('jobmill.definition') as never

/** `Input` is the payload type of `enqueue`, `Result` the type that `result()` resolves to. */
export interface JobKind<in Input = never, out Result = unknown> {
  readonly kind: string
  readonly [JOB_KIND]: { readonly takes: (input: Input) => void; readonly gives: () => Result }
}

/**
 * Keeps the name of the kind in the type, so that `createClient<typeof jobs>` knows the payload of each kind.
 */
export interface Named<Kind extends string> {
  readonly kind: Kind
}
