import { isJsonObject, type Json, partOf, setKey } from '@backporch/kyaml/json'

/** Also without maps that become empty. */
export function withoutAnnotations(object: Json, names: ReadonlySet<string>): Json {
  const [metadata, annotations] = [
    partOf(object, 'metadata'),
    partOf(object, 'metadata', 'annotations'),
  ]
  if (!isJsonObject(object) || !isJsonObject(metadata) || !isJsonObject(annotations)) return object
  const retained: { [key: string]: Json } = {}
  for (const [name, text] of Object.entries(annotations))
    if (!names.has(name)) setKey(retained, name, text)
  const { annotations: _, ...others } = metadata
  const rest = Object.keys(retained).length === 0 ? others : { ...metadata, annotations: retained }
  const { metadata: __, ...outer } = object
  return Object.keys(rest).length === 0 ? outer : { ...object, metadata: rest }
}
