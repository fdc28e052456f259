/** The places of credential-places.ts as objects of a cluster and of git, each with a value of its own. */
import { parseFieldPath } from '@backporch/kyaml/field'
import {
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { base64, CONTAINER, type Draw, deployment } from './credential-forms.ts'
import { type Place, placesOf, SHAPES } from './credential-places.ts'
import type { FormObject } from './placed-forms.ts'

/** A custom kind that takes any fields below `spec`. */
export const PLACE_KIND = {
  group: 'places.example.com',
  version: 'v1',
  kind: 'Place',
  plural: 'places',
} as const

export interface PlacedValue {
  /** `short 17 ConfigMap data["redis.conf"]`. */
  readonly name: string
  /** What nobody may see. */
  readonly value: string
  readonly place: Place
  /** The same place with plain words in it. */
  readonly plain: Place
}

/** Each place in each shape: 582. */
export function placedValues(draw: Draw): readonly PlacedValue[] {
  const plain = placesOf('plain')
  return Object.entries(SHAPES).flatMap(([shape, make]) =>
    plain.map(({ group, location }, at) => {
      const value = make(draw)
      const place = placesOf(value)[at]
      if (place === undefined) throw new RangeError(`there is no place ${at}`)
      return {
        name: `${shape} ${at} ${group} ${location}`,
        value,
        place,
        plain: { group, location, value: wordsIn(place) },
      }
    }),
  )
}

/** What git says there: words, and nothing else that a rule could know. */
function wordsIn({ group, location, value }: Place): Json {
  const words = (part: Json): Json => {
    if (isJsonArray(part)) return part.map(words)
    return isJsonObject(part)
      ? Object.fromEntries(Object.entries(part).map(([key, below]) => [key, words(below)]))
      : 'plain'
  }
  if (location === 'metadata.finalizers') return []
  return group === 'Secret' && location.startsWith('data') ? base64('plain') : words(value)
}

/** An object of its own for one place, with a name. */
export function placedObject(
  { place, name }: Pick<PlacedValue, 'place' | 'name'>,
  namespace: string,
): JsonObject {
  const [object] = objectsWith([place], namespace, name)
  if (object === undefined) throw new RangeError('there is an object')
  return object
}

/** The values in as few objects as hold them, with the values and with plain words instead. @param suffix of the objects' names */
export function placedObjects(
  values: readonly PlacedValue[],
  namespace: string,
  suffix: string,
): readonly FormObject[] {
  const [withSecrets, plain] = [
    values.map(({ place }) => place),
    values.map((one) => one.plain),
  ].map((places) => objectsWith(places, namespace, suffix))
  if (withSecrets === undefined || plain?.length !== withSecrets.length)
    throw new RangeError('both sides have the same objects')
  return withSecrets.map((object, at) => ({ withSecrets: object, plain: plain[at] ?? {} }))
}

function objectsWith(
  places: readonly Place[],
  namespace: string,
  suffix: string,
): readonly JsonObject[] {
  const made: Draft[] = []
  for (const place of places) {
    const kind = kindOf(place)
    if (made.some((draft) => draft.kind === kind && draft.takes(place))) continue
    const draft = new Draft(kind)
    draft.takes(place)
    made.push(draft)
  }
  return made.map((draft, at) =>
    draft.object({ name: `${draft.kind.toLowerCase()}-${at}-${suffix}`, namespace }),
  )
}

type Kind = 'ConfigMap' | 'Deployment' | 'Place' | 'Secret'

const KIND_OF_GROUP: ReadonlyMap<string, Kind> = new Map([
  ['field', 'Place'],
  ['CSI', 'Place'],
  ['ConfigMap', 'ConfigMap'],
  ['script', 'ConfigMap'],
  ['annotation', 'ConfigMap'],
  ['variable', 'Deployment'],
  ['arguments', 'Deployment'],
  ['probe', 'Deployment'],
  ['Secret', 'Secret'],
])

function kindOf({ group }: Place): Kind {
  const kind = KIND_OF_GROUP.get(group)
  if (kind === undefined) throw new RangeError(`${group} has no kind`)
  return kind
}

type Fields = { [name: string]: Json }

/** An object that takes the values one by one. */
class Draft {
  readonly kind: Kind
  private readonly fields: Fields = {}
  private readonly containers: Fields[] = []

  constructor(kind: Kind) {
    this.kind = kind
  }

  /** Whether the place is free, and taken now. */
  takes({ location, value }: Place): boolean {
    if (this.kind === 'Deployment') return this.takesInContainer(location, value)
    const parsed = parseFieldPath(location)
    if ('problem' in parsed) throw new RangeError(parsed.problem)
    const steps = parsed.path.map((step) => (step.kind === 'field' ? step.name : ''))
    const [last = '', ...above] = steps.toReversed()
    let at: Fields = this.fields
    for (const step of above.toReversed()) {
      const below = getKey(at, step) ?? {}
      if (!isJsonObject(below)) return false
      const copy = { ...below }
      at[step] = copy
      at = copy
    }
    if (getKey(at, last) !== undefined) return false
    at[last] = value
    return true
  }

  private takesInContainer(location: string, value: Json): boolean {
    const below = location.slice(CONTAINER.length + 1)
    const variable = /^env\[name=(\w+)\]\.value$/.exec(below)?.[1]
    const [first] = this.containers
    const env = first?.['env']
    if (variable !== undefined && first !== undefined && isJsonArray(env))
      first['env'] = [...env, { name: variable, value }]
    else if (variable !== undefined) this.containers.unshift({ env: [{ name: variable, value }] })
    else if (below === 'args') this.containers.push({ args: value })
    else if (below.endsWith('.httpHeaders[0].value'))
      this.containers.push(probed([{ name: 'X-Color', value }]))
    else this.containers.push(probed(value))
    return true
  }

  object({ name, namespace }: { readonly name: string; readonly namespace: string }): JsonObject {
    const metadata = isJsonObject(this.fields['metadata'] ?? null)
      ? (this.fields['metadata'] as JsonObject)
      : {}
    const rest = { ...this.fields, metadata: { ...metadata, name, namespace } }
    if (this.kind === 'Place')
      return {
        apiVersion: `${PLACE_KIND.group}/${PLACE_KIND.version}`,
        kind: PLACE_KIND.kind,
        ...rest,
      }
    if (this.kind !== 'Deployment') return { apiVersion: 'v1', kind: this.kind, ...rest }
    const containers = this.containers.map((container, at) => ({
      name: `app-${at}`,
      image: 'example.com/app:1',
      ...container,
    }))
    const labels = { app: name }
    const made = deployment({})
    const spec = {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    }
    return { ...made, spec, metadata: { name, namespace } }
  }
}

function probed(httpHeaders: Json): Fields {
  return { livenessProbe: { httpGet: { path: '/', port: 80, httpHeaders } } }
}

/** The definition of the custom kind. */
export function placeDefinition(): JsonObject {
  const { group, version, kind, plural } = PLACE_KIND
  const spec = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        },
      ],
    },
  }
}
