/** Compile-time check that a payload type survives JSON: a `Date` would reach the handler as a string. */

/** Types that JSON changes or drops. Class instances are recognized by their methods. */
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

/**
 * The type itself if it is JSON, otherwise a type without values. Mapped lazily, so that types can be
 * recursive.
 */
type Jsonable<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null
    ? T
    : T extends NotJson
      ? Refused
      : T extends readonly unknown[]
        ? { [Key in keyof T]: Jsonable<T[Key]> }
        : // JSON omits a property that is undefined, as if it were optional.
          {
            [Key in keyof T]: undefined extends T[Key]
              ? Jsonable<Exclude<T[Key], undefined>> | undefined
              : Jsonable<T[Key]>
          }

/** Adds nothing for a JSON type; for any other type, adds a property that explains the problem. */
export type MustBeJson<T> = [T] extends [never]
  ? unknown
  : [T] extends [Jsonable<T>]
    ? unknown
    : {
        readonly payloadIsNotJson: 'A payload is stored as JSON. Use z.iso.datetime() or z.coerce.date() (without a schema: a string) for dates, a string for bigint, an array for Map and Set, and omit functions and class instances.'
      }
