const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);
const OPENING_LIST = 0x5b;

/** Depth of the lists of rows in `{"code":200,"result":{"friends":[…`. */
const LIST_DEPTH = 3;

export interface RowText {
  list: string;
  text: string;
}

/**
 * Splits an answer of sync into rows while it arrives, and returns each row as soon as it is whole. It looks only for
 * the ends of rows: the caller parses the rows, and the rest at the end, as JSON.
 */
export class RowReader {
  /** The answer without its rows. */
  rest = '';
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  #list: string | undefined;
  /** Text of the row that has begun. */
  #begun = '';
  #count = 0;

  *push(text: string): Generator<RowText> {
    let from = 0;
    for (let at = 0; at < text.length; at += 1) {
      const char = text.charCodeAt(at);
      if (this.#isInText) this.#readText(char);
      else if (char === QUOTE) this.#isInText = true;
      else if (OPENING.has(char)) {
        this.#depth += 1;
        if (this.#depth !== LIST_DEPTH || char !== OPENING_LIST) continue;
        this.rest += text.slice(from, at + 1);
        from = at + 1;
        this.#list = /"(\w+)"\s*:\s*\[$/.exec(this.rest)?.[1];
        this.#count = 0;
      } else if (CLOSING.has(char)) {
        this.#depth -= 1;
        if (this.#list === undefined || this.#depth >= LIST_DEPTH) continue;
        yield* this.#row(text.slice(from, at), true);
        from = at;
        this.#list = undefined;
      } else if (char === COMMA && this.#list !== undefined && this.#depth === LIST_DEPTH) {
        yield* this.#row(text.slice(from, at), false);
        from = at + 1;
      }
    }
    if (this.#list === undefined) this.rest += text.slice(from);
    else this.#begun += text.slice(from);
  }

  #readText(char: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (char === BACKSLASH) this.#isEscaped = true;
    else if (char === QUOTE) this.#isInText = false;
  }

  /** Returns the row that ends here. An empty list has no row before its end. */
  *#row(end: string, isLast: boolean): Generator<RowText> {
    const text = this.#begun + end;
    this.#begun = '';
    if (this.#list === undefined || (isLast && this.#count === 0 && text.trim() === '')) return;
    this.#count += 1;
    yield { list: this.#list, text };
  }
}
