import { getPartAt, isJsonObject, type Json, setKey } from '@backporch/kyaml/json'

/** Also without maps that become empty. */
export function removeAnnotations(object: Json, names: ReadonlySet<string>): Json {
  const [metadata, annotations] = [
    getPartAt(object, 'metadata'),
    getPartAt(object, 'metadata', 'annotations'),
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
