/**
 * A deliberate fault that violates one guarantee in one place. A proof that does not find it says nothing
 * about that guarantee. `find` occurs once in its file, and is replaced.
 */
export interface Mutant {
  readonly name: string
  /** Its folder under packages (default jobmill). */
  readonly package?: 'jobmill' | 'server' | 'tables' | 'telegram' | 'uploads'
  /** Under the src folder of its package. */
  readonly file: string
  readonly find: string
  readonly replace: string
}

/** A fault that a test must find: the test passes without it and fails with it. */
export interface TestedMutant extends Mutant {
  readonly test: {
    readonly file: string
    /** A part of the name of the test. */
    readonly name: string
  }
}
