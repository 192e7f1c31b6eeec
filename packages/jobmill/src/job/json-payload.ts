/** Payload types that survive JSON, checked by the compiler: a `Date` would reach the handler as a string. */

/** What JSON turns into something else, or drops. Classes are found by their methods. */
type NotJson =
  | bigint
  | symbol
  | undefined
  | ((...given: never[]) => unknown)
  | { toJSON(...given: never[]): unknown }
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | (WeakKey & { readonly byteLength: number })
  | RegExp
  | Error

declare const NOT_JSON: unique symbol
interface Refused {
  readonly [NOT_JSON]: never
}

/** The type itself where it is JSON, and what no value has where it is not. Mapped lazily, so that types may be recursive. */
type Jsonable<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null
    ? T
    : T extends NotJson
      ? Refused
      : T extends readonly unknown[]
        ? { [Key in keyof T]: Jsonable<T[Key]> }
        : // A property that is undefined is left out of the JSON, as if it were optional.
          {
            [Key in keyof T]: undefined extends T[Key]
              ? Jsonable<Exclude<T[Key], undefined>> | undefined
              : Jsonable<T[Key]>
          }

/** Nothing to add for a type that is JSON; a property that says what is wrong for one that is not. */
export type MustBeJson<T> = [T] extends [never]
  ? unknown
  : [T] extends [Jsonable<T>]
    ? unknown
    : {
        readonly payloadIsNotJson: 'A payload is stored as JSON. Use z.iso.datetime() or z.coerce.date() (without a schema: a string) for dates, a string for bigint, an array for Map and Set, and omit functions and class instances.'
      }
