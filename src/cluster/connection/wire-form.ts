/**
 * A model of client-node as JSON has it: times are texts. Only types of the library are used for what we write: its serialiser holds all
 * models, 24 MiB of a process (docs/adr/0010-dependencies.md).
 */
export type WireForm<Model> = Model extends Date
  ? string
  : Model extends readonly (infer Item)[]
    ? readonly WireForm<Item>[]
    : Model extends object
      ? { readonly [Field in keyof Model]: WireForm<Model[Field]> }
      : Model
