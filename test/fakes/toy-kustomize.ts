/** What kustomize makes of resources, images, replicas and strategic merge patches, in the process: for counts of builds, and for many of them. */
import {
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import {
  type Build,
  type BuildLibrary,
  buildKey,
} from '../../src/sources/programs/package-builder.ts'
import { attempt, Unanswered } from '../../src/sources/programs/questions.ts'

type Objects = readonly JsonObject[]

/** The output of a build. Objects have the file that they come from. */
export function toyKustomize({ folder, files }: Build): string {
  const texts = new Map(files.map((file) => [file.path, new TextDecoder().decode(file.content)]))
  return built(folder, texts)
    .map((object) => `${JSON.stringify(object)}\n`)
    .join('---\n')
}

function built(folder: string, texts: ReadonlyMap<string, string>): Objects {
  const [kustomization] = read(`${folder}/kustomization.yaml`, texts)
  const all = list(kustomization, 'resources').flatMap((name): readonly Json[] => {
    const path = new URL(String(name), `file:///${folder}/`).pathname.slice(1)
    const annotations = { 'config.kubernetes.io/origin': `path: ../../${path}\n` }
    return texts.has(path)
      ? read(path, texts).map((object) => merged(object, { metadata: { annotations } }))
      : built(path, texts)
  })
  return all
    .map((object) =>
      list(kustomization, 'patches').reduce<Json>(patchedWith(folder, texts), object),
    )
    .map((object) => list(kustomization, 'replicas').reduce<Json>(replicated, object))
    .map((object) => list(kustomization, 'images').reduce<Json>(retagged, object))
    .map((object) => list(kustomization, 'pinned').reduce<Json>(pinned, object)) as Objects
}

function read(path: string, texts: ReadonlyMap<string, string>): Objects {
  return parseGoYaml(texts.get(path) ?? '', path).documents.flatMap(({ value }) =>
    isJsonObject(value) ? [value] : [],
  )
}

function list(object: Json | undefined, name: string): readonly Json[] {
  const value = isJsonObject(object) ? getKey(object, name) : undefined
  return isJsonArray(value) ? value : []
}

function at(object: Json | undefined, ...names: readonly string[]): Json | undefined {
  return names.reduce<Json | undefined>(
    (value, name) => (isJsonObject(value) ? getKey(value, name) : undefined),
    object,
  )
}

function patchedWith(folder: string, texts: ReadonlyMap<string, string>) {
  return (object: Json, patch: Json): Json => {
    const path = at(patch, 'path')
    const [own] =
      path === undefined
        ? read('patch', new Map([['patch', String(at(patch, 'patch'))]]))
        : read(`${folder}/${path}`, texts)
    return at(own, 'kind') === at(object, 'kind') &&
      at(own, 'metadata', 'name') === at(object, 'metadata', 'name')
      ? merged(object, own as JsonObject)
      : object
  }
}

function replicated(object: Json, entry: Json): Json {
  return at(object, 'metadata', 'name') === at(entry, 'name')
    ? merged(object, { spec: { replicas: at(entry, 'count') ?? null } })
    : object
}

/** What no location of kustomize says: the Deployment has one replica whatever the files have. */
function pinned(object: Json, name: Json): Json {
  return replicated(object, { name, count: 1 })
}

function retagged(value: Json, entry: Json): Json {
  if (isJsonArray(value)) return value.map((each) => retagged(each, entry))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      const [image] = String(each).split(':')
      return name === 'image' && image === at(entry, 'name')
        ? [name, `${image}:${at(entry, 'newTag')}`]
        : [name, retagged(each, entry)]
    }),
  )
}

/** Lists are merged by the names of their items. */
function merged(under: Json, over: Json): Json {
  if (isJsonArray(under) && isJsonArray(over)) {
    const named = (items: readonly Json[], item: Json) =>
      items.find((each) => at(each, 'name') === at(item, 'name'))
    return [
      ...under.map((item) => merged(item, named(over, item) ?? {})),
      ...over.filter((item) => named(under, item) === undefined),
    ]
  }
  if (!isJsonObject(under) || !isJsonObject(over)) return over
  const both = Object.entries(over).map(([name, value]): [string, Json] => {
    const own = getKey(under, name)
    return [name, own === undefined ? value : merged(own, value)]
  })
  return { ...under, ...Object.fromEntries(both) }
}

/** A library that asks for each build first, and counts them. */
export class CountedBuilds {
  builds = 0
  rounds = 0
  private readonly known = new Map<string, string>()
  readonly library: BuildLibrary = {
    built: (build) => {
      const text = this.known.get(buildKey(build))
      if (text === undefined) throw new Unanswered({ kind: 'builds', builds: [build] })
      return { text }
    },
  }

  /** What is computed once all builds ran. */
  run<T>(compute: () => T): T {
    for (;;) {
      const tried = attempt(compute)
      if ('value' in tried) return tried.value
      if (tried.question.kind !== 'builds') throw new Unanswered(tried.question)
      const builds = new Map(tried.question.builds.map((build) => [buildKey(build), build]))
      this.rounds += 1
      this.builds += builds.size
      for (const [key, build] of builds) this.known.set(key, toyKustomize(build))
    }
  }
}
