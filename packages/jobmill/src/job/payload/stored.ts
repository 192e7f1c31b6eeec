/** A type after a round trip through JSON: a Date becomes a string, and a function disappears. */
export type Stored<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null | undefined | void
    ? T
    : T extends { toJSON(...given: never[]): infer Json }
      ? Stored<Json>
      : T extends bigint | symbol | ((...given: never[]) => unknown)
        ? never
        : { [Key in keyof T]: Stored<T[Key]> }
