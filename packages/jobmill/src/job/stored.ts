/** What is left of a type after its way through JSON: a Date is a text then, and a function is nothing. */
export type Stored<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null | undefined | void
    ? T
    : T extends { toJSON(...given: never[]): infer Json }
      ? Stored<Json>
      : T extends bigint | symbol | ((...given: never[]) => unknown)
        ? never
        : { [Key in keyof T]: Stored<T[Key]> }
