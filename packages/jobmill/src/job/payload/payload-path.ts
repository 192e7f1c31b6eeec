/** The paths in the type of a payload that lead to a string, a number or a boolean. */

type Scalar = string | number | boolean
/** The level below each level. Recursive types are checked to this depth. */
type Below = [never, 0, 1, 2, 3]

/** Such as `'customer.id'`. Any text for an unknown payload. */
export type PayloadPath<T, Level extends 0 | 1 | 2 | 3 | 4 = 4> = unknown extends T
  ? string
  : T extends Scalar | null | undefined
    ? never
    : T extends readonly unknown[]
      ? PathUnder<`${number}`, T[number], Level>
      : { [Key in keyof T & string]: PathUnder<Key, T[Key], Level> }[keyof T & string]

type PathUnder<Key extends string, Value, Level extends 0 | 1 | 2 | 3 | 4> = unknown extends Value
  ? Key | `${Key}.${string}`
  :
      | (Extract<Value, Scalar> extends never ? never : Key)
      | `${Key}.${Level extends 0 ? string : PayloadPath<Value, Below[Level]>}`
