/** Remembers what came of the last question, as nearly every request asks the same. */
export function memoizeLast<Question, Answer>(
  answerTo: (question: Question) => Answer,
): (question: Question) => Answer {
  let last: { readonly question: Question; readonly answer: Answer } | undefined;
  return (question) => {
    if (last === undefined || last.question !== question) last = { question, answer: answerTo(question) };
    return last.answer;
  };
}
