import { test } from 'node:test'
import { servedOriginalTest } from '../served-original-test.ts'

test(...servedOriginalTest(import.meta.filename))
