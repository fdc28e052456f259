/** The message never quotes the text, which may be a secret. */
export class YamlRefusal extends Error {
  readonly code: 'BP1110' | 'BP1111'
  readonly offset: number
  readonly remedy: string

  constructor(
    offset: number,
    why: string,
    remedy = 'correct the line',
    code: 'BP1110' | 'BP1111' = 'BP1110',
  ) {
    super(why)
    this.code = code
    this.offset = offset
    this.remedy = remedy
  }
}

export function createQuestionMarkRefusal(at: number): YamlRefusal {
  return new YamlRefusal(
    at,
    'kubectl does not read "?" or a leading ":" inside brackets',
    'put the value in quotes',
  )
}

export function createTabRefusal(at: number): YamlRefusal {
  return new YamlRefusal(at, 'a tab is used as indentation', 'indent with spaces')
}

export class UnclosedYaml extends YamlRefusal {
  constructor(at: number, mark: 'quote' | 'bracket') {
    super(at, `the ${mark} that opens here is not closed`, `close the ${mark}`)
  }
}

export function createNoColonRefusal(at: number): YamlRefusal {
  return new YamlRefusal(at, 'a key goes over more than one line, or a line lacks its colon')
}

export const MAX_YAML_DEPTH = 100

export function createTooDeepRefusal(offset: number): YamlRefusal {
  return new YamlRefusal(
    offset,
    `maps and lists are nested more than ${MAX_YAML_DEPTH} deep`,
    'flatten the document',
    'BP1111',
  )
}
