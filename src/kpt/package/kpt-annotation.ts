/**
 * The `kpt:{…}` line of a commit message, from which Porch reads the purpose of a commit (porch `pkg/externalrepo/git/annotation.go`).
 */
import { getKey, isJsonObject, type Json, parseJson, textOf } from '@backporch/kyaml/json'

export interface KptAnnotation {
  /** Path of the package from the root of the repository. */
  readonly packagePath: string
  readonly workspace: string
  /** `0` for a draft, the number for a published revision; old Porch wrote `v8`. Empty where the line has none. */
  readonly revision: string
  readonly task: KptTask | undefined
}

interface KptTask {
  /** Porch shows `init`, `edit`, `clone` and `upgrade`, and ignores other words. */
  readonly type: string
  /** For `edit`: object name of the source package revision; empty without one. */
  readonly source: string
}

/** The line without line breaks; by convention it is a paragraph of its own. */
export function formatKptAnnotation(annotation: KptAnnotation): string {
  const { packagePath, workspace, revision, task } = annotation
  const source =
    task === undefined || task.source === ''
      ? {}
      : { [task.type]: { sourceRef: { name: task.source } } }
  return `kpt:${JSON.stringify({
    package: packagePath,
    workspaceName: workspace,
    revision,
    ...(task === undefined ? {} : { task: { type: task.type, ...source } }),
  })}`
}

/** Every `kpt:` line of a message, in its order. `problems` names lines that are no JSON mapping. */
export function parseKptAnnotations(message: string): {
  readonly annotations: readonly KptAnnotation[]
  readonly problems: readonly string[]
} {
  const annotations: KptAnnotation[] = []
  const problems: string[] = []
  message.split('\n').forEach((raw, index) => {
    const line = raw.trim()
    if (!line.startsWith('kpt:')) return
    const annotation = parseLine(line.slice('kpt:'.length))
    if (annotation === undefined)
      problems.push(`line ${index + 1} of the message begins with kpt: and is no JSON mapping`)
    else annotations.push(annotation)
  })
  return { annotations, problems }
}

function parseLine(text: string): KptAnnotation | undefined {
  let value: Json
  try {
    value = parseJson(text)
  } catch {
    return undefined
  }
  if (!isJsonObject(value)) return undefined
  const task = getKey(value, 'task')
  return {
    packagePath: textOf(value, 'package'),
    workspace: textOf(value, 'workspaceName'),
    revision: textOf(value, 'revision'),
    task: isJsonObject(task) ? readTask(task) : undefined,
  }
}

function readTask(task: { readonly [key: string]: Json }): KptTask {
  const type = textOf(task, 'type')
  return { type, source: textOf(task, type, 'sourceRef', 'name') }
}

/** The workspace of a package in a commit's annotations: the first one, as in Porch. */
export function workspaceIn(
  annotations: readonly KptAnnotation[],
  packagePath: string,
): string | undefined {
  return annotations.find(
    (annotation) => annotation.packagePath === packagePath && annotation.workspace !== '',
  )?.workspace
}
