/**
 * A fault to put in on purpose: a promise broken in one place. A proof that does not find it says nothing about that promise. `find` stands once in its file, and is
 * replaced.
 */
export interface Mutant {
  readonly name: string
  /** Under packages/jobmill/src. */
  readonly file: string
  readonly find: string
  readonly replace: string
}

/** One that a test has to find: it passes without the fault, and fails with it. */
export interface TestedMutant extends Mutant {
  readonly test: {
    readonly file: string
    /** A part of the name of the test. */
    readonly name: string
  }
}
