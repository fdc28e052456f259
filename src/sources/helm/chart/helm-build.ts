import type { PackageFile } from '@backporch/kyaml/files'
import { formatJson, type JsonObject } from '@backporch/kyaml/json'
import type { BuildInput, HelmOrder } from '../../build/built-source.ts'
import {
  type Build,
  type BuildAnswer,
  type BuildLibrary,
  sortFiles,
} from '../../programs/package-builder.ts'

export function createHelmBuild(
  { folder, files, parent }: Pick<BuildInput, 'folder' | 'files' | 'parent'>,
  order: HelmOrder,
): Build {
  const read = parent === undefined ? [...files.values()] : []
  const { words, written, hasSecrets = false } = order
  return {
    tool: 'helm',
    folder,
    command: words,
    files: sortFiles([...read, ...written]),
    hasSecrets,
  }
}

/** The last run: each post-renderer needs the output before it. @throws Unanswered */
export function postRendered(
  source: BuildInput,
  order: HelmOrder,
  library: BuildLibrary,
): Build | BuildAnswer {
  let build = createHelmBuild(source, order)
  for (const { kustomization } of order.postRenderers ?? []) {
    const answer = library.built(build)
    if ('failure' in answer) return answer
    build = postRendererBuild(kustomization, answer.text, order)
  }
  return build
}

/** As helm-controller writes it (`internal/postrender/kustomize.go`). */
function postRendererBuild(
  fields: JsonObject,
  output: string,
  { hasSecrets = false }: HelmOrder,
): Build {
  const name = 'helm-output.yaml'
  const kustomization = {
    ...fields,
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [name],
  }
  const file = (path: string, text: string): PackageFile => ({
    path,
    mode: '100644',
    content: new TextEncoder().encode(text),
  })
  const files = [file(name, output), file('kustomization.yaml', formatJson(kustomization))]
  return { tool: 'kustomize', folder: '', command: [], files, hasSecrets }
}
