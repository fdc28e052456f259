import { answerCalls, NO_FUNCTIONS } from '@backporch/kpt/function'
import { writeDocument } from '@backporch/kyaml/edit-yaml'
import { Failure } from '@backporch/kyaml/failure'
import type { PackageFiles } from '@backporch/kyaml/files'
import { getResourceKey } from '@backporch/kyaml/resource'
import { renderPackage } from '../kpt/render/render-package.ts'
import { joinFolderPath } from '../kustomize/files/kustomization-walk.ts'
import { BY_HAND, writeObjects } from './place-objects.ts'
import { explainNotAsLive, type NewObject } from './prove-placed.ts'

interface ObjectFile {
  readonly path: string
  readonly text: string
}

export interface ObjectPackage<Object extends NewObject = NewObject> {
  readonly files: readonly ObjectFile[]
  readonly objects: readonly Object[]
}

/**
 * @param path from the repository root
 * @throws Failure BP2001 if rendering the package does not give the live objects
 */
export function createObjectPackage<Object extends NewObject>(
  path: string,
  namespace: string,
  objects: readonly Object[],
): ObjectPackage<Object> {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const kptfile = writeDocument({
    apiVersion: 'kpt.dev/v1',
    kind: 'Kptfile',
    metadata: { name, annotations: { 'config.kubernetes.io/local-config': 'true' } },
    info: { description: `imported from the namespace ${namespace}` },
  })
  const texts = writeObjects(objects, {
    folder: path,
    resources: [],
    isSibling: () => false,
    textOf: () => undefined,
  })
  const files = [
    { path: joinFolderPath(path, 'Kptfile'), text: kptfile },
    ...[...texts].map(([file, text]) => ({ path: file, text })),
  ]
  const encoder = new TextEncoder()
  const sources: PackageFiles = files
    .map((file) => ({
      path: file.path.slice(path.length + 1),
      mode: '100644' as const,
      content: encoder.encode(file.text),
    }))
    .sort((one, other) => (one.path < other.path ? -1 : 1))
  const rendering = answerCalls(renderPackage(path, sources), NO_FUNCTIONS)
  if ('failures' in rendering) throw rendering.failures[0]
  const rendered = new Map(
    rendering.desired.resources.map((resource) => [getResourceKey(resource.id), resource]),
  )
  const problem = explainNotAsLive(new Map(), rendered, objects)
  if (problem === undefined) return { files, objects }
  throw new Failure({
    code: 'BP2001',
    what: 'rendering the new package does not give the live objects',
    where: path,
    why: problem.why,
    remedy: BY_HAND,
  })
}
